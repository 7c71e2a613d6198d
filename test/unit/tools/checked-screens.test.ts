import t from 'tap'
import { SCREENS } from '../../../control-plane/dashboard/screens/index.ts'
import { listUncheckedScreens } from '../../support/checked-screens.ts'

t.test('A screen of the dashboard is missing until axe has run on it', async t => {
  const paths = SCREENS.map(({ path }) => path)
  t.ok(paths.length > 40, `${paths.length} screens`)
  const lines = paths.map(path => `AXE ${path.replace(/:\w+/g, '{}')}`)
  t.same(listUncheckedScreens(lines), [])
  for (const path of paths) {
    const others = lines.filter((_, i) => paths[i] !== path)
    t.same(listUncheckedScreens([...others, `GET ${path} 200`, 'AXE /status/acme', '']), [path])
  }
})
