import t from 'tap'
import { buildDefaultFavicon } from '../../../control-plane/pages/templates/document/default-favicon.ts'

t.test('A page without a favicon gets one in its brand colour, with visible bars', async t => {
  const { contentType, bytes } = buildDefaultFavicon('#2563eb')
  t.equal(contentType, 'image/svg+xml')
  t.match(bytes.toString(), 'fill="#2563eb"')
  t.match(bytes.toString(), 'stroke="#ffffff"')
  t.match(buildDefaultFavicon('#ffd400').bytes.toString(), 'stroke="#000000"')
})
