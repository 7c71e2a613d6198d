import { testRows } from './runs.ts'

// docs/design/verdict.md#streaks: what makes a region failing, degraded and ok again
testRows([
  { title: 'a first success makes a monitor up', run: 'us 0 .', statuses: 'up@0', regions: 'us=ok' },
  {
    title: 'a new monitor is not down before retry_count + 1 failures',
    run: 'us 0 x 1 x',
    statuses: '',
    regions: 'us=pending',
  },
  { title: 'a new monitor is down after retry_count + 1 failures in a row', run: 'us 0 x 1 x 4 x', statuses: 'down@4' },
  {
    title: 'a new monitor with failures and then a success is up at the success',
    run: 'us 0 x 1 x 4 .',
    statuses: 'up@4',
  },
  {
    title: 'a new monitor that is slow as often is degraded first',
    run: 'us 0 ~ 60 ~ 120 ~',
    statuses: 'degraded@120',
  },
  {
    title: 'an up monitor goes down at the third failure in a row',
    run: 'us 0 . 60 x 61 x 64 x',
    statuses: 'up@0 down@64',
  },
  { title: 'two failures in a row are not enough', run: 'us 0 . 60 x 61 x 64 . 120 x 121 x 124 .', statuses: 'up@0' },
  { title: 'a success between failures breaks the streak', run: 'us 0 . 1 x 2 x 3 . 4 x 5 x 6 .', statuses: 'up@0' },
  {
    title: 'a slow answer between failures breaks the failing streak but not the streak of results that were not up',
    run: 'us 0 . 60 x 61 ~ 64 x',
    statuses: 'up@0 degraded@64',
    regions: 'us=degraded',
  },
  {
    title: 'with retry_count 0 one failure is enough',
    policy: { retryCount: 0 },
    run: 'us 0 . 60 x',
    statuses: 'up@0 down@60',
  },
  {
    title: 'with retry_count 0 one slow answer is enough',
    policy: { retryCount: 0 },
    run: 'us 0 . 60 ~',
    statuses: 'up@0 degraded@60',
  },
  {
    title: 'with retry_count 5 the sixth failure is the deciding one',
    policy: { retryCount: 5 },
    run: 'us 0 . 60 x 61 x 64 x 69 x 74 x 79 x',
    statuses: 'up@0 down@79',
  },
  {
    title: 'with retry_count 5 five failures and a success change nothing',
    policy: { retryCount: 5 },
    run: 'us 0 . 60 x 61 x 64 x 69 x 74 x 79 .',
    statuses: 'up@0',
  },
  {
    title: 'three slow answers in a row make a monitor degraded',
    run: 'us 0 . 60 ~ 120 ~ 180 ~',
    statuses: 'up@0 degraded@180',
  },
  {
    title: 'one success in an outage does not end it',
    run: 'us 0 x 1 x 4 x 60 . 65 x 120 x',
    statuses: 'down@4',
    regions: 'us=failing',
  },
  {
    title: 'two successes in a row end an outage',
    run: 'us 0 x 1 x 4 x 60 . 65 .',
    statuses: 'down@4 up@65',
    regions: 'us=ok',
  },
  {
    title: 'with retry_count 0 one success ends an outage',
    policy: { retryCount: 0 },
    run: 'us 0 x 60 .',
    statuses: 'down@0 up@60',
  },
  {
    title: 'a success, a failure and a success do not end an outage',
    run: 'us 0 x 1 x 4 x 60 . 65 x 120 . 125 x',
    statuses: 'down@4',
  },
  {
    title: 'a region that answers slowly after an outage is degraded, the outage goes on until it is up',
    run: 'us 0 x 1 x 4 x 60 ~ 65 ~ 120 ~ 180 ~ 240 . 245 .',
    statuses: 'down@4 degraded@180 up@245',
    regions: 'us=ok',
  },
  {
    title: 'one slow answer and one success after an outage make the region ok',
    run: 'us 0 x 1 x 4 x 60 ~ 65 .',
    statuses: 'down@4 up@65',
  },
  {
    title: 'a degraded monitor needs two successes to be up',
    run: 'us 0 ~ 1 ~ 2 ~ 60 . 65 ~ 120 . 180 .',
    statuses: 'degraded@2 up@180',
  },
  {
    title: 'a degraded monitor that starts to fail goes down after three failures',
    run: 'us 0 ~ 1 ~ 2 ~ 60 x 61 x 64 x',
    statuses: 'degraded@2 down@64',
  },
  {
    title: 'unknown results do not take a monitor down',
    run: 'us 0 . 60 ? 61 ? 64 ? 120 ? 180 ?',
    statuses: 'up@0',
    regions: 'us=ok',
  },
  {
    title: 'an unknown result does not break a failing streak',
    run: 'us 0 . 60 x 61 x 64 ? 120 x',
    statuses: 'up@0 down@120',
  },
  { title: 'an unknown result does not end an outage', run: 'us 0 x 1 x 4 x 60 ? 120 ?', statuses: 'down@4' },
  {
    title: 'an unknown result does not break a recovery',
    run: 'us 0 x 1 x 4 x 60 . 65 ? 120 .',
    statuses: 'down@4 up@120',
  },
  { title: 'an unknown result gives no first verdict', run: 'us 0 ? 60 ?', statuses: '', regions: 'us=pending' },
  {
    title: 'a missed check neither extends nor breaks a streak',
    run: 'us 0 . 60 x 61 x 120 - 180 x',
    statuses: 'up@0 down@180',
  },
  { title: 'missed checks alone decide nothing', run: 'us 0 - 60 - 120 -', statuses: '' },
])
