// Entry point of a thread when the control plane runs from its sources, as in tests: threads do not inherit node's loader.
import { workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register()
await import(workerData)
