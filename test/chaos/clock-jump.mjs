// Loaded into a program before it starts: at each SIGUSR2 the wall clock of its process jumps ahead by CLOCK_JUMP_MS, and back at
// the next; with CLOCK_JUMP_FILE it is from then on as many ms ahead as that file says. Monotonic time goes on as ever,
// as it does when somebody sets the clock of a machine.
import { readFileSync } from 'node:fs'

const RealDate = Date
const { CLOCK_JUMP_MS, CLOCK_JUMP_FILE } = process.env
const fromFile = () => Number(readFileSync(CLOCK_JUMP_FILE, 'utf8'))
let aheadMs = CLOCK_JUMP_FILE ? fromFile() : 0

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
  if (CLOCK_JUMP_FILE) aheadMs = fromFile()
  else aheadMs = aheadMs === 0 ? Number(CLOCK_JUMP_MS) : 0
})
