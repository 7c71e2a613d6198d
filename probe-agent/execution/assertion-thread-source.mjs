// The thread of a probe that runs from its sources, as in tests: node hands no loader on to threads.
import { register } from 'tsx/esm/api'

register()
await import('./assertion-thread.ts')
