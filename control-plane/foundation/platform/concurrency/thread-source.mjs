// A thread of a control plane that runs from its sources, as in tests: node hands no loader on to threads.
import { workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register()
await import(workerData)
