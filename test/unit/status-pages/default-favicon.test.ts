import t from 'tap'
import { defaultFavicon } from '../../../control-plane/status-pages/default-favicon.ts'

t.test('a page without an icon gets one in the colour of its brand, with bars that are seen on it', async t => {
  const { contentType, bytes } = defaultFavicon('#2563eb')
  t.equal(contentType, 'image/svg+xml')
  t.match(bytes.toString(), 'fill="#2563eb"')
  t.match(bytes.toString(), 'stroke="#ffffff"')
  t.match(defaultFavicon('#ffd400').bytes.toString(), 'stroke="#000000"')
})
