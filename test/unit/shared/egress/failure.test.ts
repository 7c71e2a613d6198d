import t from 'tap'
import type { CheckError } from '../../../../shared/checks/result.ts'
import { FailureSource } from '../../../../shared/checks/result.ts'
import { createTargetFailure, toEgressFailure, toNetworkFailure } from '../../../../shared/egress/failure.ts'
import { hasOwnNetwork, runInOwnNetwork } from '../../../support/own-network.ts'

const { TARGET, INTERNAL } = FailureSource
const withCode = (code: string) => Object.assign(new Error(code), { code })

t.test('A refusal that the network or a firewall of the target sends is not a fault of the probe', async t => {
  // ICMPv6 "administratively prohibited" is EACCES on Linux, "no route to destination" is ENETUNREACH
  for (const code of ['EACCES', 'ENETUNREACH', 'EHOSTUNREACH'])
    t.match(toNetworkFailure(withCode(code)), { source: TARGET, code: 'host_unreachable' }, code)
  t.match(toNetworkFailure(withCode('ECONNREFUSED')), { source: TARGET, code: 'connection_refused' })
  t.match(toNetworkFailure(withCode('ENOBUFS')), { source: INTERNAL, code: 'local_resources' })
  const failure = createTargetFailure('timeout', 'the target does not respond')
  t.equal(toNetworkFailure(failure), failure)
})

t.test('The same codes before anything is sent are faults of the probe', async t => {
  t.match(toEgressFailure(withCode('EACCES')), { source: INTERNAL, code: 'local_firewall' })
  t.match(toEgressFailure(withCode('ENETUNREACH')), { source: INTERNAL, code: 'network_unreachable' })
  // namespaces need the permission of the machine
  if (!hasOwnNetwork()) return
  const scene = new URL('../../../support/connect-scene.ts', import.meta.url).pathname
  const errors = await runInOwnNetwork<CheckError[]>(scene, ['192.0.2.1', '2001:db8::1'])
  for (const error of errors) t.match(error, { source: INTERNAL, code: /^(network_unreachable|local_resources)$/ })
})
