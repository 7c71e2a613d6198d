// takes about 150 s
import t from 'tap'
import { startFirefox } from './drivers/firefox.ts'
import { runFlows } from './flows/run-flows.ts'

await runFlows(t, 'Firefox', startFirefox)
