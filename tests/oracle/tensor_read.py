"""Writes files with torch and safetensors, and compares what tensor_read sees in them."""

import subprocess
import sys

import safetensors.torch
import torch

folder, reader = sys.argv[1], sys.argv[2]
n = int(sys.argv[3])
names = {torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32",
         torch.int64: "i64", torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32",
         torch.float64: "f64"}


def line(key, t):
    raw = t.contiguous().reshape(-1).view(torch.uint8) if t.numel() else torch.empty(0, dtype=torch.uint8)
    shape = ",".join(str(x) for x in t.shape)
    return f"{key} tensor {names[t.dtype]} [{shape}] {raw.numpy().tobytes().hex()}"


def seen(path):
    return subprocess.run([reader, path], capture_output=True, text=True).stdout.splitlines()


def ok(what, got, want):
    global n
    n += 1
    print(f"{'ok' if got == want else 'not ok'} {n} - {what}")
    if got != want:
        print("# got", got[:3], "\n# want", want[:3])


torch.manual_seed(1)
tensors = {str(d).split(".")[1]: (torch.rand(3, 5) * 100).to(d) for d in names}
tensors |= {"empty": torch.empty(0, 7), "scalar": torch.tensor(5), "one": torch.arange(4),
            "four": torch.zeros(1, 2, 3, 4), "view": torch.arange(20)[5:15]}

p = folder + "/torch.pt"
torch.save(tensors | {"s": "a\u00e9", "i": 70000, "j": -1, "k": 2**40, "b": True}, p)
ok("torch.save of a dict", seen(p), [line(k, v) for k, v in tensors.items()]
   + ["s str a\u00e9", "i int 70000", "j int -1", f"k int {2**40}", "b bool 1"])
torch.save(tensors["one"], p)
ok("torch.save of a tensor", seen(p), [line("-", tensors["one"])])
torch.save({i: i * 1000 for i in range(3000)}, p)
ok("torch.save of counts", seen(p), [f"{i} int {i * 1000}" for i in range(3000)])
torch.save({"t": torch.arange(6).reshape(2, 3).T}, p)
ok("a transposed tensor is refused", [x.split(":")[0] for x in seen(p)], [f"error {p}"])
torch.save({"t": [1]}, p)
ok("a list is refused", [x.split(":")[0] for x in seen(p)], [f"error {p}"])
torch.save({"t": torch.arange(6)}, p, _use_new_zipfile_serialization=False)
ok("the old format is refused", [x.split(":")[0] for x in seen(p)], [f"error {p}"])

p = folder + "/torch.safetensors"
safe = {k: v.clone() for k, v in tensors.items()}
safetensors.torch.save_file(safe, p, metadata={"format": "pt"})
ok("safetensors.torch.save_file", sorted(seen(p)), sorted(line(k, v) for k, v in safe.items()))
