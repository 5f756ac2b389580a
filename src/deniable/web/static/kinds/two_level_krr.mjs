// @ts-check
/** An answer that a panel keeps in disguise, and sends through another disguise each time. */

import { ratio } from "../device/epsilon.mjs";
import { object, refuse, string } from "../protocol/messages.mjs";
import { kind as krr, mostlyTrue, part } from "./krr.mjs";

/** @typedef {import("../channels/registry.mjs").Kind} Kind */

/** @type {Kind} The `first` report is drawn once for a panel; each time it is sent, it goes through `again`. */
export const kind = {
  reader: object({ kind: string, first: part, again: part }),
  check: ({ first, again }, name) => {
    const k = mostlyTrue(first, name);
    if (mostlyTrue(again, name) !== k) refuse("wrong-cells", `${name}: as many categories are kept as are sent`);
    return k;
  },
  make: (fields) => {
    const [first, again] = [krr.make(fields.first), krr.make(fields.again)];
    const { k, other, bits } = fields.again;
    const draws = 1n << bits;
    return {
      inputs: first.inputs,
      reports: first.inputs,
      ratio: first.ratio,
      outcome: (truth, draw) => again.outcome(first.outcome(truth, draw), draw),
      kept: first.kept * again.kept + ((1 - first.kept) * (1 - again.kept)) / (first.inputs - 1),
      levels: { first, resend: again.outcome, singledOut: ratio(k * (draws - (k - 1n) * other), draws) },
    };
  },
};
