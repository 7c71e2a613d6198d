import t from 'tap'
import {
  type PartitionLease,
  selectPartitionsToTake,
} from '../../../../control-plane/verdict/reader/partitions/share.ts'

/** Each letter is a partition's owner; a small letter's lease has ended, a dot is a free partition. */
const holdings = (owners: string): PartitionLease[] =>
  [...owners].map((letter, id) => ({
    id,
    owner: letter === '.' ? null : letter.toUpperCase(),
    epoch: 1,
    isLive: letter !== '.' && letter === letter.toUpperCase(),
  }))

const TABLE: { title: string; owners: string; me: string; takes: number }[] = [
  { title: 'the first process takes everything', owners: '................', me: 'A', takes: 16 },
  { title: 'nothing is left to take', owners: 'AAAAAAAAAAAAAAAA', me: 'A', takes: 0 },
  { title: 'a second process takes its half from the first', owners: 'AAAAAAAAAAAAAAAA', me: 'B', takes: 8 },
  { title: 'a third one takes from both', owners: 'AAAAAAAABBBBBBBB', me: 'C', takes: 5 },
  { title: 'a difference of one is left alone', owners: 'AAAAAABBBBBCCCCC', me: 'B', takes: 0 },
  { title: 'what a dead process had is taken up to an even share', owners: 'aaaaaaaaBBBBCCCC', me: 'B', takes: 4 },
  { title: 'the only one left takes all that a dead process had', owners: 'aaaaaaaaBBBBBBBB', me: 'B', takes: 8 },
  {
    title: 'a process takes no more than its share of released partitions',
    owners: '......BBBBBCCCCC',
    me: 'B',
    takes: 3,
  },
  { title: 'a seventeenth process has nothing to do', owners: 'ABCDEFGHIJKLMNOP', me: 'Q', takes: 0 },
]

for (const { title, owners, me, takes } of TABLE) {
  t.test(title, async t => {
    const taken = selectPartitionsToTake(holdings(owners), me)
    t.equal(taken.length, takes)
    t.equal(new Set(taken).size, takes)
    t.notOk(taken.some(id => owners[id] === me))
  })
}
