"""vLLM's own hidden-states connector without what needs CUDA: the copy out of the cache is made at
once instead of on a stream of its own. Locks, files, names and replies are vLLM's."""
import fcntl
import os
from functools import partial

import torch
from vllm.distributed.kv_transfer.kv_connector.v1 import example_hidden_states_connector as stock


class Done:
    def synchronize(self):
        pass

    def query(self):
        return True


class CpuHiddenStatesConnector(stock.ExampleHiddenStatesConnector):
    def _submit_async_write(self, pending):
        blocks = torch.tensor(pending.block_ids, dtype=torch.long).reshape(-1, 1)
        slots = (torch.arange(self._block_size).reshape(1, -1) + blocks * self._block_size).flatten()
        n = pending.token_ids.shape[0]
        tensors = {"hidden_states": stock.extract_from_kv_cache(self._kv_cache, slots, n).clone().contiguous(),
                   "token_ids": pending.token_ids.clone()}
        os.makedirs(os.path.dirname(pending.filename), exist_ok=True)
        lock = self._lock_fds.pop(pending.req_id, None)
        if lock is None and self.use_lock:
            lock = os.open(pending.filename + ".lock", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
            fcntl.flock(lock, fcntl.LOCK_EX)
        future = self._executor.submit(self._write_tensors, tensors, Done(), pending.filename, lock)
        self._req_copy_events[pending.req_id] = Done()
        self._req_futures[pending.req_id] = future
        future.add_done_callback(partial(self._on_write_done, pending.req_id))
