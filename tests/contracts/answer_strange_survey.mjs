// A survey of kinds that no program was made for, answered: node answer_strange_survey.mjs STATIC URL ANSWERS
import { pathToFileURL } from "node:url";
import { newDevice } from "../web/browser/stand_ins.mjs";

const [program, url, answers] = process.argv.slice(2);
const part = (name) => import(pathToFileURL(`${program}/${name}.mjs`));
const [{ Client }, { codesOf }] = await Promise.all(["device/client", "protocol/answer_encoding"].map(part));

newDevice(url);
const client = await Client.open();
await client.draw();
await client.finish(codesOf(client.design, JSON.parse(answers)));
const kinds = client.design.attributes.map(({ kind, coder }) => [kind, coder.kind]);
console.log(JSON.stringify([kinds, await client.send()]));
