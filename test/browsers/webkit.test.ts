// takes about 150 s
import t from 'tap'
import { startWebkit } from './drivers/webkit.ts'
import { runFlows } from './flows/run-flows.ts'

await runFlows(t, 'WebKit', startWebkit)
