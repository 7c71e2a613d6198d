/**
 * Loaded into a measured process: on SIGUSR2 it runs the garbage collector and logs its memory in bytes. `compiled`: the part
 * of the heap that is compiled code, which grows as long as V8 finds functions that are called often.
 */
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  collect()
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics()
  const compiled = code_and_metadata_size + bytecode_and_metadata_size
  console.log(JSON.stringify({ event: 'heap', ...process.memoryUsage(), compiled }))
})
