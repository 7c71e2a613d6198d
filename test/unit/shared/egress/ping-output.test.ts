import { readFileSync } from 'node:fs'
import t from 'tap'
import { parsePingOutput } from '../../../../shared/egress/icmp/ping-output.ts'

const recorded = (name: string) =>
  readFileSync(new URL(`../../../fixtures/ping/${name}.txt`, import.meta.url).pathname, 'utf8')

const rows: [name: string, sent: number, received: number, min: number, avg: number, max: number][] = [
  ['iputils-all', 3, 3, 18, 27, 38],
  ['iputils-ipv6', 3, 3, 24, 29, 35],
  ['iputils-some', 3, 1, 32, 32, 32],
  ['iputils-none', 3, 0, 0, 0, 0],
  ['iputils-unreachable', 3, 0, 0, 0, 0],
]

t.test('The output of the system’s ping is parsed to counts and times', async t => {
  for (const [name, sent, received, rttMinUs, rttAvgUs, rttMaxUs] of rows) {
    t.same(parsePingOutput(recorded(name)), { sent, received, rttMinUs, rttAvgUs, rttMaxUs }, name)
  }
})

t.test('The output of a failed ping has no statistics', async t => {
  t.equal(parsePingOutput(recorded('iputils-no-route')), null)
  t.equal(parsePingOutput(''), null)
})
