/** A process that delivers and does nothing else, to be killed. It begins when it is told to, and says so. */
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startWorker } from './delivery-worker.ts'

const [url = '', key = ''] = process.argv.slice(2)

process.once('message', () => {
  startWorker({ teardown() {} }, { url, db: createPostgres(url, 4), secretKey: Buffer.from(key, 'base64') })
  process.send?.('running')
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
