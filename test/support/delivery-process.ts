/** A process that only delivers, to be killed. It starts on a message and confirms the start. */
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startWorker } from './delivery-worker.ts'

const [url = '', key = ''] = process.argv.slice(2)

process.once('message', () => {
  startWorker({ teardown() {} }, { url, db: createPostgres(url, 4), secretKey: Buffer.from(key, 'base64') })
  process.send?.('running')
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
