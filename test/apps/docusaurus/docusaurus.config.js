/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'Docusaurus on Homeport',
  url: 'https://docs.example.com',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  presets: [
    [
      'classic',
      {
        docs: { sidebarPath: './sidebars.js', routeBasePath: '/' },
        blog: false,
        theme: { customCss: './src/css/custom.css' },
      },
    ],
  ],
  themeConfig: { navbar: { title: 'Docusaurus on Homeport' } },
};

export default config;
