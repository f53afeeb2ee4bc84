import { describe } from 'vitest'
import { isFullTier } from '../support/tier.ts'
import { coreDeploymentSuite, extendedDeploymentSuite, useDeploymentContext } from './deployment-suite.ts'

describe('deployments on process', () => {
  const context = useDeploymentContext('process')
  coreDeploymentSuite(context, 'process')
  extendedDeploymentSuite(context, { redeploys: isFullTier ? 3 : 1, cancel_ms: Infinity })
})
