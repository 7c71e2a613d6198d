// Loaded into a program before it starts: the wall clock of its process is as many ms ahead as CLOCK_JUMP_FILE says, which it
// reads at its start and again at each SIGUSR2. Monotonic time is not changed, as when somebody sets the clock of a machine.
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
