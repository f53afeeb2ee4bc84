import type { HelpArticle } from '../topic.ts'

export const gettingStartedTopics: HelpArticle[] = [
  {
    id: 'start',
    title: 'From nothing to a live address',
    summary: 'What a deployment is here, and the four ways to make the first one.',
    keywords: 'begin tour welcome folder git zip quick start first project',
    body: [
      'A project is an app with an address of its own, such as `http://my-app.localhost:4680`. A deployment is one version of it: Homeport looks at the source, finds out what it is, installs its packages, builds it, starts it, asks it whether it answers, and only then leads its address to it. What served before goes on serving until that moment, and if anything fails it simply goes on.',
      { h: 'Four ways in' },
      {
        list: [
          'A folder of this machine: deployed as is, including uncommitted changes.',
          'A git address: deployed from its branch, and again with every push ([[previews]]).',
          'An archive: a .zip or .tar.gz, dropped anywhere on the list of projects ([[uploads]]).',
          'A sample: an app that lies with Homeport ([[samples]]).',
        ],
      },
      'The same from a terminal:',
      { run: 'npx homeport deploy .', note: 'in the folder of the app' },
      'If a build fails, the deployment’s page says why, on which line, and what to do. If Homeport itself is in doubt about something, [[/instance|Instance, Health]] says so.',
    ],
  },
  {
    id: 'samples',
    title: 'Sample apps',
    summary: 'Five small apps that deploy without a network, each for one thing that Homeport does.',
    keywords: 'example demo tide clock signal lamp harbour news guest book leaky boat',
    body: [
      'New project, Sample, takes one. None has packages to fetch: they deploy on a train.',
      {
        list: [
          '**Tide clock**: a folder of files is a site. Change a file and deploy again.',
          '**Signal lamp**: a server. Open its Logs beside it: every letter that the lamp sends comes there as it happens.',
          '**Harbour news**: a page that takes a second to make, and says that it may be kept for a minute. From the second reader on it comes from the cache at once ([[cache]]); Cache, Purge, `front-page` takes it out.',
          '**Guest book**: greets with the variable `GREETING` ([[environment]]). Set it, and it is deployed anew with it.',
          '**Leaky boat**: does not build, on purpose.',
        ],
      },
      { h: 'Mending the leaky boat' },
      {
        steps: [
          'Deploy it. It fails: a variable is missing, `HULL`. The line that says so is on top of the page.',
          'Open Environment, Add a variable: the key `HULL`, as value what you like in a hull, such as `oak`.',
          'Go back to the deployment that failed and press Build again: the same source, with the variables of now.',
        ],
      },
      'To change a sample, write it into a folder and deploy that:',
      { run: 'npx homeport samples harbour-news' },
      { run: 'npx homeport deploy harbour-news' },
    ],
  },
  {
    id: 'keyboard',
    title: 'Keyboard',
    summary: 'Every key of the dashboard, and how to turn single keys off.',
    keywords: 'shortcuts hotkeys keys palette accessibility screen reader',
    body: [
      'Everything can be done by keyboard: Tab goes from part to part, Enter presses, Escape closes. `Ctrl K` (`⌘ K` on a Mac) opens the palette, which has every project and every action by a few letters.',
    ],
  },
]
