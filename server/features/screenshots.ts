import { Problem } from '../contract/errors.ts'
import { screenshotVariants } from '../contract/previews.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createScreenshotHandlers(deps: FeatureDeps): Pick<OperationHandlers, 'getScreenshot'> {
  return {
    async getScreenshot({ deployment }, { params }) {
      const variant = screenshotVariants.find((one) => one === params.variant)
      if (!variant) throw new Problem('screenshot_not_found', 'Use desktop.png or mobile.png.')
      const png = await deps.screenshots.read(deployment, variant)
      if (!png) throw new Problem('screenshot_not_found', 'This deployment has no screenshot yet. It is taken once the deployment is live.')
      return png
    },
  }
}
