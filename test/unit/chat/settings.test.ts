import t from 'tap'
import { chatApiUrl, chatSettings } from '../../../control-plane/chat/settings.ts'

const env = { CHAT_CLIENT_ID: '1.2', CHAT_CLIENT_SECRET: 'a', CHAT_SIGNING_SECRET: 'b' }

t.test('the app in a chat is set up whole or not at all', async t => {
  t.equal(chatSettings({}), null)
  t.same(chatSettings(env), {
    clientId: '1.2',
    clientSecret: 'a',
    signingSecret: 'b',
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  })
  for (const name of Object.keys(env)) {
    t.throws(() => chatSettings({ ...env, [name]: '' }), /have to be set together/, name)
  }
})

t.test('the addresses of another provider are http or https', async t => {
  t.equal(chatApiUrl({}), 'https://slack.com/api')
  t.equal(chatApiUrl({ CHAT_API_URL: 'http://10.0.0.1/api//' }), 'http://10.0.0.1/api')
  t.throws(() => chatApiUrl({ CHAT_API_URL: 'chat.example.com' }), /CHAT_API_URL has to be a URL/)
  t.throws(() => chatSettings({ ...env, CHAT_AUTHORIZE_URL: 'javascript:x' }), /CHAT_AUTHORIZE_URL has to be a URL/)
})
