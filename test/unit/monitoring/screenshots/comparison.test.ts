import t from 'tap'
import { computeExpiry, isConfirmed, isOutdated } from '../../../../control-plane/monitoring/screenshots/comparison.ts'

const settings = { url: 'https://shop.example', configVersion: 5, screenshotsSince: 3, threshold: 0.05 }
const NOW = 1_000_000
const at = (ms: number) => new Date(ms)

t.test('A picture counts for the settings with which it was taken', async t => {
  const rows: [number | undefined, boolean][] = [
    [undefined, true],
    [2, true],
    [3, false],
    [5, false],
    [6, true],
  ]
  for (const [version, expected] of rows) t.equal(isOutdated(version, settings), expected, `${version}`)
})

t.test('A difference above the threshold counts when the comparison before it was above it, too', async t => {
  const before = { configVersion: 3, comparedAt: at(0), expiresAt: at(NOW + 1), difference: 0.06 }
  const rows: [string, Partial<typeof before> | { difference: null } | { expiresAt: null }, number, boolean][] = [
    ['a second picture that differs', {}, 0.06, true],
    ['no difference', {}, 0.05, true],
    ['the picture before did not differ', { difference: 0.05 }, 1, false],
    ['nothing was compared before', { difference: null }, 1, false],
    ['the picture before had other settings', { configVersion: 2 }, 1, false],
    ['the picture before has expired', { expiresAt: at(NOW) }, 1, false],
    ['the picture before has no time', { expiresAt: null }, 1, false],
  ]
  for (const [name, change, difference, expected] of rows)
    t.equal(isConfirmed({ ...before, ...change }, difference, settings, NOW), expected, name)
})

t.test('A probe decides how long a difference counts, at most four days', async t => {
  t.equal(computeExpiry(NOW, 60), NOW + 60_000)
  t.equal(computeExpiry(NOW + 0.5, 60), NOW + 60_000, 'messages have whole milliseconds')
  t.equal(computeExpiry(NOW, 10_000_000), NOW + 4 * 86_400_000)
  t.equal(computeExpiry(NOW, undefined), NOW + 3_600_000)
})
