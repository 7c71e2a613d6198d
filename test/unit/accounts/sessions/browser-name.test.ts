import t from 'tap'
import { parseBrowserName } from '../../../../control-plane/accounts/sessions/browser-name.ts'
import { formatTimeAgo } from '../../../../control-plane/accounts/sessions/time-ago.ts'

t.test('A browser is named by its name and system, without text of the header', async t => {
  const engine = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  const rows: [string | undefined, string | null][] = [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${engine} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Windows'],
    [
      `Mozilla/5.0 (Windows NT 10.0) ${engine} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`,
      'Microsoft Edge on Windows',
    ],
    [`Mozilla/5.0 (Linux; Android 10; K) ${engine} Chrome/140.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) something new', 'A browser on macOS'],
    ['curl/8.5.0', null],
    ['Your password/1.0 (is known) to us', null],
    ['', null],
    ['<script>alert(1)</script>', null],
    [undefined, null],
  ]
  for (const [header, words] of rows) t.equal(parseBrowserName(header), words, `${header}`)
})

t.test('A past time is shown in hours on the first day, then in days', async t => {
  const now = new Date('2026-11-21T12:00:00Z')
  const rows: [number, string][] = [
    [0, 'less than an hour ago'],
    [-0.1, 'less than an hour ago'],
    [1, 'an hour ago'],
    [23.9, '23 hours ago'],
    [24, 'a day ago'],
    [24 * 29, '29 days ago'],
  ]
  for (const [hours, words] of rows) t.equal(formatTimeAgo(new Date(now.getTime() - hours * 3_600_000), now), words)
})
