/** A program for a network namespace without routes: connects to the hosts of its argument, and writes the errors. */
import { connectTcp, createDeadline, createEgress } from '../../shared/egress/index.ts'

const hosts: string[] = JSON.parse(process.argv[2]!)
const egress = createEgress({ allow: ['0.0.0.0/0', '::/0'] })
const errors = await Promise.all(
  hosts.map(async host => {
    const { signal } = createDeadline(60_000)
    return (await connectTcp({ host, port: 80 }, signal, egress)).error
  }),
)
console.log(JSON.stringify(errors))
process.exit()
