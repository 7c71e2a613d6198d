import t from 'tap'
import {
  buildInvitationEmail,
  buildPasswordChangedEmail,
  buildPasswordResetEmail,
  renderEmailHtml,
  renderEmailText,
} from '../../../control-plane/accounts/email/outbox/account-email.tsx'

const url = 'https://picket.example/claim/a?b=c&d="e"'

t.test('Text from users is in an account email as text, on one line, and its button leads to the link', async t => {
  const name = `Acme\r\nBcc: x@example.com <img src=x> ${'long'.repeat(40)}`
  const letters = [
    buildInvitationEmail('ann@example.com', name, { url, account: 'new' }),
    buildPasswordResetEmail('ann@example.com', url),
    buildPasswordChangedEmail('ann@example.com', url),
  ]
  for (const letter of letters) {
    t.notMatch(letter.subject, /[\r\n]/)
    t.ok(letter.subject.length < 200)
    t.match(renderEmailText(letter), url)
    const html = renderEmailHtml(letter)
    t.notMatch(html, '<img')
    t.equal(html.split('href="https://picket.example/claim/a?b=c&amp;d=&quot;e&quot;"').length, 2)
    t.equal(html.match(/<p class="text"/g)?.length, letter.paragraphs.length)
  }
})
