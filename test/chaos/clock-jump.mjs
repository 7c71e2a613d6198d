// Loaded into a program before it starts. Sets the wall clock of the process ahead by the ms in CLOCK_JUMP_FILE, which is read
// at the start and again at each SIGUSR2. Monotonic time does not change, as when the clock of a machine is set.
import { readFileSync } from 'node:fs'

const RealDate = Date
const read = () => Number(readFileSync(process.env.CLOCK_JUMP_FILE, 'utf8'))
let aheadMs = read()

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length > 0) super(...given)
    else super(RealDate.now() + aheadMs)
  }

  static now() {
    return RealDate.now() + aheadMs
  }
}

process.on('SIGUSR2', () => {
  aheadMs = read()
})
