import '@mantine/core/styles.css';
import './console.css';
import { Badge, Button, createTheme, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import { createQueries } from './shared/queries.ts';

const nonce = document.querySelector<HTMLElement>('[property="csp-nonce"]')?.nonce ?? '';
// The styles of open dialogs are inserted by a package that looks here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const theme = createTheme({
  // Dark enough for white and coloured text in both schemes.
  primaryShade: { light: 8, dark: 8 },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Badge: Badge.extend({ defaultProps: { variant: 'default', tt: 'none' } }),
    Button: Button.extend({ defaultProps: { variant: 'default' } }),
  },
});

createRoot(document.querySelector('#console') as HTMLElement).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <QueryClientProvider client={createQueries()}>
      <Console />
    </QueryClientProvider>
  </MantineProvider>,
);
