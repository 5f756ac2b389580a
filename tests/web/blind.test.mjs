// The vectors of RFC 9474 through the browser's half, run by node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as brsa from "../../src/deniable/web/static/protocol/blind_signature.mjs";
import { fromHex, toHex } from "../../src/deniable/web/static/protocol/messages.mjs";

const { vectors } = JSON.parse(readFileSync(new URL("../vectors/rfc9474.json", import.meta.url), "utf8"));

for (const vector of vectors) {
  const key = { n: BigInt("0x" + vector.n), e: BigInt("0x" + vector.e) };
  const [message, salt, signed] = [vector.prepared_msg, vector.salt, vector.blind_sig].map(fromHex);
  const inverse = BigInt("0x" + vector.inv);
  assert.ok(brsa.isSound(key));
  assert.equal(toHex(await brsa.encode(message, key, salt)), vector.encoded_msg);
  const blinded = await brsa.blind(key, message, { salt, inverse });
  assert.equal(toHex(blinded.message), vector.blinded_msg);
  const signature = await brsa.finalize(key, message, signed, inverse, salt.length);
  assert.equal(toHex(signature), vector.sig);
  assert.ok(!(await brsa.verify(key, brsa.prepare(message), signature, salt.length)));
  signature[9] ^= 1;
  assert.ok(!(await brsa.verify(key, message, signature, salt.length)));
  await assert.rejects(brsa.finalize(key, message, signature, inverse, salt.length));
  const [one, two] = [await brsa.blind(key, message), await brsa.blind(key, message)];
  assert.notDeepEqual(one.message, two.message);
  assert.equal(one.message.length, vector.n.length / 2);
}
console.log(`${vectors.length} vectors`);
