import { Match } from 'tcompare'

const { test } = Match.prototype

/**
 * What tap imports as `tcompare`. In a pattern of `t.match`, an empty array matches only an empty array. Without this, it
 * matches every array, so `t.match(answer, { errors: [] })` could not fail.
 */
Match.prototype.test = function (this: Match) {
  const { object, expect } = this
  if (Array.isArray(expect) && expect.length === 0) return Array.isArray(object) && object.length === 0
  return test.call(this)
}

export { format, has, hasStrict, match, matchOnly, matchOnlyStrict, matchStrict, same, strict } from 'tcompare'
