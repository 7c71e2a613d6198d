import { matchScreen } from '../../control-plane/dashboard/core/screen.ts'
import { SCREENS } from '../../control-plane/dashboard/screens/index.ts'

/** The paths of the screens on which no test has run axe. `lines` are those of test-record.ts, such as "AXE /monitors/{}". */
export function listUncheckedScreens(lines: Iterable<string>): string[] {
  const checked = new Set<string | undefined>()
  for (const line of lines) {
    const [kind, path = ''] = line.split(' ')
    if (kind === 'AXE') checked.add(matchScreen(SCREENS, path)?.screen.path)
  }
  return SCREENS.map(({ path }) => path).filter(path => !checked.has(path))
}
