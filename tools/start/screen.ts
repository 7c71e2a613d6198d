/** The terminal output: one aligned line per component. */
export type StartScreen = {
  /** runs `work` and prints a line with the name, the text of `describe` and the time */
  component<T>(name: string, work: () => Promise<T>, describe: (result: T) => string): Promise<T>
  print(text: string): void
}

const NAME_WIDTH = 20
const NOTE_WIDTH = 34

export function createScreen(print: (text: string) => void = console.log): StartScreen {
  return {
    async component(name, work, describe) {
      const started = performance.now()
      const result = await work()
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      print(`  ${name.padEnd(NAME_WIDTH)}${describe(result).padEnd(NOTE_WIDTH)}${seconds.padStart(6)} s`)
      return result
    },
    print,
  }
}
