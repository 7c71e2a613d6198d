/**
 * Whether the output of `npm run admin -- probe list` has a probe of this name that is not revoked. A line is: id, region,
 * name, last heartbeat, and "revoked" or "drained" where it applies, separated by tabs.
 */
export const isListedAsEnrolled = (listed: string, name: string): boolean =>
  listed
    .split('\n')
    .map(line => line.trim().split('\t'))
    .some(([, , listedName, , ...marks]) => listedName === name && !marks.includes('revoked'))
