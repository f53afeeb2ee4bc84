import type { HelpArticle } from '../topic.ts'

export const gettingStartedTopics: HelpArticle[] = [
  {
    id: 'start',
    title: 'Your first deployment',
    summary: 'What a deployment is, and four ways to create the first one.',
    keywords: 'begin tour welcome folder git zip quick start first project live address',
    body: [
      'A project is an app with its own URL, such as `http://my-app.localhost:4680`. A deployment is one version of that app. Homeport fetches the source, detects the framework, installs dependencies, builds and starts the app, and runs a health check. Only then does it switch traffic to the new version. The previous version stays live until that moment, and stays live if anything fails.',
      { h: 'Four ways to deploy' },
      {
        list: [
          'A folder on this machine: deployed as is, including uncommitted changes.',
          'A git repository: deployed from its branch, and again after every push ([[previews]]).',
          'An archive: a .zip or .tar.gz that you drop on the project list ([[uploads]]).',
          'A sample: an app that comes with Homeport ([[samples]]).',
        ],
      },
      'Or deploy from a terminal:',
      { run: 'npx homeport deploy .', note: 'in the folder of the app' },
      'If a build fails, the deployment page shows the reason, the log line and how to fix it. Problems with Homeport itself are listed under [[/instance|Instance, Health]].',
    ],
  },
  {
    id: 'samples',
    title: 'Sample apps',
    summary: 'Five small apps that deploy without a network. Each shows one feature of Homeport.',
    keywords: 'example demo tide clock signal lamp harbour news guest book leaky boat',
    body: [
      'Choose a sample under New project, Sample. No sample downloads any packages, so all of them deploy offline.',
      {
        list: [
          '**Tide clock**: a static site made of plain files. Change a file and deploy again.',
          '**Signal lamp**: a server. Open its Logs next to it: every letter that the lamp sends appears there immediately.',
          '**Harbour news**: a page that takes a second to render and allows caching for a minute. From the second visit on it comes from the cache ([[cache]]). To purge it, open Cache and purge the tag `front-page`.',
          '**Guest book**: greets visitors with the variable `GREETING` ([[environment]]). Set the variable, then press Save and redeploy.',
          '**Leaky boat**: fails to build, on purpose.',
        ],
      },
      { h: 'Fix the leaky boat' },
      {
        steps: [
          'Deploy it. The build fails because the variable `HULL` is missing. The log line is at the top of the page.',
          'Open Environment, add the variable `HULL` with any value, such as `oak`, and press Save.',
          'Go back to the failed deployment and press Redeploy. It builds the same source with the current variables.',
        ],
      },
      'To change a sample, write it to a folder and deploy that folder:',
      { run: 'npx homeport samples harbour-news' },
      { run: 'npx homeport deploy harbour-news' },
    ],
  },
  {
    id: 'keyboard',
    title: 'Keyboard',
    summary: 'All keyboard shortcuts of the dashboard, and how to turn off single-key shortcuts.',
    keywords: 'shortcuts hotkeys keys palette accessibility screen reader',
    body: [
      'You can do everything with the keyboard: Tab moves the focus, Enter presses a button, Escape closes a dialog. `Ctrl K` (`⌘ K` on a Mac) opens the command palette, where a few letters find any project and any action. `shop logs` opens the logs of the project named Shop, and `#14` finds deployment 14 of the current project.',
    ],
  },
]
