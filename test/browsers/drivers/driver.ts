/** A tab of a browser without the interface of Playwright, by the terms of the WebDriver specification. */
export type DriverTab = {
  navigate(url: string): Promise<void>
  /** runs an expression in the page, and resolves to its value as JSON */
  evaluate(expression: string): Promise<string>
  /** input sources with their actions, such as keys and a pointer */
  perform(actions: object[]): Promise<void>
  /** chooses a file in an input */
  setFile(selector: string, path: string): Promise<void>
  close(): Promise<void>
}

export type Driver = {
  /** the tab that is open from the start */
  first: DriverTab
  openTab(): Promise<DriverTab>
  /** what the console of the browser has shown since the start; null where WebDriver gives no access to it */
  messages: string[] | null
}

/** Starts a browser until the end of the test. */
export type StartBrowser = (look: 'light' | 'dark') => Promise<Driver>
