// Entry of the assertion thread when the probe runs from its sources, as in tests: Node does not pass loaders to threads.
import { register } from 'tsx/esm/api'

register()
await import('./assertion-thread.ts')
