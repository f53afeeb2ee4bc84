/** Whether this is `npm run test:full`. What a suite shows on processes in the default tier, it shows on Docker in this one. */
export const isFullTier = process.env.HOMEPORT_TEST_TIER === 'full'
