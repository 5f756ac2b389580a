// @ts-check
/** Every kind of channel. Written by `python -m deniable.web.page.respondent_page`, not by hand. */

import { kind as adaptive } from "../kinds/adaptive.mjs";
import { kind as block_design } from "../kinds/block_design.mjs";
import { kind as dense } from "../kinds/dense.mjs";
import { kind as hadamard } from "../kinds/hadamard.mjs";
import { kind as hashing } from "../kinds/hashing.mjs";
import { kind as krr } from "../kinds/krr.mjs";
import { kind as mixture } from "../kinds/mixture.mjs";
import { kind as paired } from "../kinds/paired.mjs";
import { kind as patterns } from "../kinds/patterns.mjs";
import { kind as subset } from "../kinds/subset.mjs";
import { kind as two_level } from "../kinds/two_level.mjs";
import { kind as two_level_krr } from "../kinds/two_level_krr.mjs";
import { kind as unary } from "../kinds/unary.mjs";

/** @type {Record<string, import("./registry.mjs").Kind>} */
export const KINDS = { adaptive, block_design, dense, hadamard, hashing, krr, mixture, paired, patterns, subset, two_level, two_level_krr, unary };
