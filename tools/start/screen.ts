/** What the person at the terminal sees: one aligned line a component. */
export type Screen = {
  /** runs `work` and prints how it went; `work` gives what to say beside the name */
  component<T>(name: string, work: () => Promise<T>, say: (result: T) => string): Promise<T>
  say(text: string): void
}

const NAME_WIDTH = 20
const NOTE_WIDTH = 34

export function createScreen(print: (text: string) => void = console.log): Screen {
  return {
    async component(name, work, say) {
      const started = performance.now()
      const result = await work()
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      print(`  ${name.padEnd(NAME_WIDTH)}${say(result).padEnd(NOTE_WIDTH)}${seconds.padStart(6)} s`)
      return result
    },
    say: print,
  }
}
