"""A plain client to compare e3-infer with: the same requests by aiohttp, so many at once.
	infer_aiohttp.py URL CONCURRENCY <records >answers"""
import asyncio
import json
import sys

import aiohttp


async def main(url, at_once):
    gate = asyncio.Semaphore(at_once)
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout()) as s:
        async with s.get(url + "/v1/models") as r:
            model = (await r.json())["data"][0]["id"]

        async def one(record):
            async with gate:
                body = {"model": model, "messages": record["messages"], "max_tokens": 400,
                        "return_token_ids": True}
                async with s.post(url + "/v1/chat/completions", json=body) as r:
                    record["answer"] = await r.json()
            print(json.dumps(record))
        await asyncio.gather(*[one(json.loads(line)) for line in sys.stdin])


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
