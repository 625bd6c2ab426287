// What MACA's compiler predefines, and what its devices are called.
#pragma once

#define __MACA__ 1
#define __MACACC__ 1
#define __MXCC__ 1
#define __MACA_ARCH__ 1000
#define __MACA_DEVICE_COMPILE__ 1
#define MACART_VERSION 3000

#define PORTER_DEVICE_NAME "MetaX C500"
