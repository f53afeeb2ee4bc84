import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { screenshotVariants } from '../contract/previews.ts'
import { requireDeployment } from './access.ts'
import type { OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createScreenshotHandlers(deps: FeatureDeps): Pick<Handlers<OperationContext>, 'getScreenshot'> {
  return {
    async getScreenshot({ caller }, { params }) {
      const { deployment } = await deps.store.db.read((tx) => requireDeployment(tx, caller, params.slug, params.id))
      const variant = screenshotVariants.find((one) => one === params.variant)
      if (!variant) throw new Problem('screenshot_not_found', 'There are only desktop.png and mobile.png.')
      const png = await deps.screenshots.read(deployment, variant)
      if (!png) throw new Problem('screenshot_not_found', 'This deployment has no screenshot yet. It is taken once the deployment is live.')
      return png
    },
  }
}
