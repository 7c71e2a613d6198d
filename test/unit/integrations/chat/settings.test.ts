import t from 'tap'
import { readChatApiUrl, readChatSettings } from '../../../../control-plane/integrations/chat/settings.ts'

const env = { CHAT_CLIENT_ID: '1.2', CHAT_CLIENT_SECRET: 'a', CHAT_SIGNING_SECRET: 'b' }

t.test('The settings of the chat app must be set together', async t => {
  t.equal(readChatSettings({}), null)
  t.same(readChatSettings(env), {
    clientId: '1.2',
    clientSecret: 'a',
    signingSecret: 'b',
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  })
  for (const name of Object.keys(env)) {
    t.throws(() => readChatSettings({ ...env, [name]: '' }), /must be set together/, name)
  }
})

t.test('Addresses of another provider must be http or https', async t => {
  t.equal(readChatApiUrl({}), 'https://slack.com/api')
  t.equal(readChatApiUrl({ CHAT_API_URL: 'http://10.0.0.1/api//' }), 'http://10.0.0.1/api')
  t.throws(() => readChatApiUrl({ CHAT_API_URL: 'chat.example.com' }), /CHAT_API_URL must be a URL/)
  t.throws(() => readChatSettings({ ...env, CHAT_AUTHORIZE_URL: 'javascript:x' }), /CHAT_AUTHORIZE_URL must be a URL/)
})
