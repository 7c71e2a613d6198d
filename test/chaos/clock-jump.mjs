// Loaded into a probe before it starts: at each SIGUSR2 the wall clock of its process jumps ahead, and back at the next.
// Monotonic time goes on as ever, as it does when somebody sets the clock of a machine.
const RealDate = Date
let aheadMs = 0

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
  aheadMs = aheadMs === 0 ? Number(process.env.CLOCK_JUMP_MS) : 0
})
